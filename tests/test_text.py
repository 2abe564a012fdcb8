"""What is hidden in addresses before they are written or shown, and what stays readable."""

from __future__ import annotations

import pytest

from dialgauge.cli import main
from dialgauge.text import secrets_in, without_secrets


@pytest.mark.parametrize(
    "key",
    [
        "sk-abcDEF123",
        "sk-proj-withoutanydigit",
        "hf_abcdefghijkl",
        "0123456789abcdef0123456789abcdef",
        "0123456789ABCDEF" * 4,
        "7f3c2d1e-9a4b-4c5d-8e6f-0123456789ab",
        "dGhpcyBpcyBhIHNlY3JldCBrZXk0Mg==",
        "AIzaSyA1b2C3d4E5f6G7h8I9j0KlMnOpQrStUvW",
        "bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
        "q1w2e3r4t5y6u7i8o9p0asdf",
    ],
)
@pytest.mark.parametrize("url", ["https://host:8000/{}/v1", "endpoint=http://me:pw@host/v1/{}?x=1", "s3://bucket/{}"])
def test_a_segment_that_looks_like_a_key_is_hidden(key: str, url: str) -> None:
    shown = without_secrets(url.format(key))
    assert key not in shown and "[key]" in shown and "pw" not in shown
    assert secrets_in(url.format(key)) == [key]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host/key/hunter/v1", "https://host/key/[key]/v1"),
        ("https://host/api-key/hunter2", "https://host/api-key/[key]"),
        ("https://host/v1/access_token/a/chat", "https://host/v1/access_token/[key]/chat"),
        ("https://host/token=hunter/v1", "https://host/token=[key]/v1"),
        ("https://host/apikey:abc123def456/", "https://host/apikey:[key]/"),
        ("https://host/v1;key=abcdef/", "https://host/v1;key=[key]/"),
        ("https://host/keys/abc123/v1", "https://host/keys/[key]/v1"),
        ("https://host/Bearer/hunter/v1", "https://host/Bearer/[key]/v1"),
        ("https://host/sk%2Dabcdef0123/v1", "https://host/[key]/v1"),
        ("http://127.0.0.1:9/v1/0123456789abcdef/", "http://127.0.0.1:9/v1/[key]/"),
    ],
)
def test_what_is_named_a_key_is_hidden(url: str, shown: str) -> None:
    assert without_secrets(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/v1/chat/completions",
        "https://host.openai.azure.com/openai/deployments/gpt-4o/chat/completions",
        "https://host/v1/meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo",
        "https://host/mistralai/Mixtral-8x7B-Instruct-v0.1/Qwen2.5-72B-Instruct-GPTQ-Int4",
        "https://host/models/gemini-1.5-pro-latest:generateContent",
        "https://host/accounts/fireworks/models/llama-v3p1-405b-instruct",
        "https://host/claude-3-5-sonnet-20241022/deepseek-r1-distill-qwen-32b",
        "https://host/tokens/keyboard/monkey/v1",
        "https://host/v1beta1/gpt-4o-mini/o3-mini/phi3-v2/k8s-west2/8x22B",
        "https://host/data/dialogues_20240101_1200/test.json.gz",
        "no address: sk-abcdefghijkl/0123456789abcdef0123456789abcdef",
    ],
)
def test_ordinary_words_of_addresses_stay_readable(url: str) -> None:
    assert without_secrets(url) == url
    assert secrets_in(url) == []


def test_a_password_in_an_address_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["score", "http://me:secret@host/x?key=abcdefgh", "y.json"])
    printed = capsys.readouterr().err
    assert "secret" not in printed and "abcdefgh" not in printed and "http://host/x" in printed

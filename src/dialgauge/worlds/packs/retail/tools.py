"""The tools of τ²-bench's retail shop, written from their specification (what they do, not how they were written).

What looks like a mistake here is one there, and verdicts rest on it: all changed items of an order get price and
options of the last new one, a cancellation refunds earlier refunds again. Refused although the original happens to
accept it: a text or an object in place of a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dialgauge.worlds.tools import AsGiven, ToolError, calculated, writes

_REASONS = ("no longer needed", "ordered by mistake")
_OPTIONAL = (
    "cancel_reason", "exchange_items", "exchange_new_items", "exchange_payment_method_id", "exchange_price_difference",
    "return_items", "return_payment_method_id",
)  # fmt: skip


@writes
def cancel_pending_order(data: dict[str, Any], order_id: str, reason: str) -> Any:
    """Cancel a pending order and refund it.

    Args:
        order_id: With its sign, for example #W0000000.
        reason: 'no longer needed' or 'ordered by mistake'.
    """
    order = _order(data, order_id, "pending")
    if reason not in _REASONS:
        raise ToolError(f"the reason must be '{_REASONS[0]}' or '{_REASONS[1]}'")
    methods = _owner(data, order)["payment_methods"]
    for entry in list(order["payment_history"]):
        method = entry["payment_method_id"]
        order["payment_history"].append(_entry("refund", entry["amount"], method))
        _credit(methods, method, entry["amount"])
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    return _shown(order)


@writes
def modify_pending_order_items(
    data: dict[str, Any], order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Any:
    """Replace items of a pending order by others of the same product; possible once.

    Args:
        order_id: With its sign, for example #W0000000.
        item_ids: The items to replace.
        new_item_ids: What replaces each of them, in the same order.
        payment_method_id: What pays or gets the difference, for example gift_card_0000000.
    """
    order = _order(data, order_id, "pending")
    _check_counts(order, item_ids)
    pairs = _pairs(item_ids, new_item_ids)
    for old, new in pairs:
        if old == new:
            raise ToolError(f"{old} would be replaced by itself")
    difference = _difference(data, order, pairs, 0.0)
    method = _affordable(_owner(data, order), payment_method_id, difference)
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_entry(kind, abs(difference), payment_method_id))
    if method["source"] == "gift_card":
        method["balance"] = round(method["balance"] - difference, 2)
    last = _new_variant(data, order, *pairs[-1]) if pairs else {}
    for old, new in pairs:
        _item(order, old).update(item_id=new, price=last["price"], options=dict(last["options"]))
    order["status"] = "pending (item modified)"
    return _shown(order)


@writes
def modify_pending_order_payment(data: dict[str, Any], order_id: str, payment_method_id: str) -> Any:
    """Let another payment method pay a pending order.

    Args:
        order_id: With its sign, for example #W0000000.
        payment_method_id: The method that pays from now on, for example credit_card_0000000.
    """
    order = _order(data, order_id)
    _require_pending(order)
    methods = _owner(data, order)["payment_methods"]
    _method(methods, payment_method_id)
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        raise ToolError("the payment of this order was changed already")
    former, amount = history[0]["payment_method_id"], history[0]["amount"]
    if former == payment_method_id:
        raise ToolError("this method pays the order already")
    _affordable({"payment_methods": methods}, payment_method_id, amount)
    history += [_entry("payment", amount, payment_method_id), _entry("refund", amount, former)]
    _credit(methods, payment_method_id, -amount)
    _credit(methods, former, amount)
    return _shown(order)


@writes
def modify_pending_order_address(
    data: dict[str, Any], order_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
) -> Any:
    """Change the address to which a pending order goes.

    Args:
        order_id: With its sign, for example #W0000000.
        address1: Street and number.
        address2: Apartment or suite; may be empty.
        state: In two letters, for example CA.
        zip: The postal code.
    """
    order = _order(data, order_id)
    _require_pending(order)
    order["address"] = _address(address1, address2, city, state, country, zip)
    return _shown(order)


@writes
def modify_user_address(
    data: dict[str, Any], user_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
) -> Any:
    """Change a user's own address; orders keep theirs.

    Args:
        user_id: For example sara_doe_000.
        address1: Street and number.
        address2: Apartment or suite; may be empty.
        state: In two letters, for example CA.
        zip: The postal code.
    """
    user = _user(data, user_id)
    user["address"] = _address(address1, address2, city, state, country, zip)
    return user


@writes
def exchange_delivered_order_items(
    data: dict[str, Any], order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Any:
    """Ask to exchange items of a delivered order for others of the same product.

    Args:
        order_id: With its sign, for example #W0000000.
        item_ids: The items to exchange.
        new_item_ids: What each is exchanged for, in the same order.
        payment_method_id: What pays or gets the difference, for example gift_card_0000000.
    """
    order = _order(data, order_id, "delivered")
    _check_counts(order, item_ids)
    pairs = _pairs(item_ids, new_item_ids)
    difference = round(_difference(data, order, pairs, 0), 2)
    _affordable(_owner(data, order), payment_method_id, difference)
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return _shown(order)


@writes
def return_delivered_order_items(
    data: dict[str, Any], order_id: str, item_ids: list[str], payment_method_id: str
) -> Any:
    """Ask to return items of a delivered order.

    Args:
        order_id: With its sign, for example #W0000000.
        item_ids: The items to return.
        payment_method_id: What gets the refund: the method that paid, or a gift card.
    """
    order = _order(data, order_id, "delivered")
    method = _method(_owner(data, order)["payment_methods"], payment_method_id)
    if method["source"] != "gift_card" and order["payment_history"][0]["payment_method_id"] != payment_method_id:
        raise ToolError("only the method that paid, or a gift card, can get the refund")
    _check_counts(order, item_ids)
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return _shown(order)


def find_user_id_by_email(data: dict[str, Any], email: str) -> str:
    """Find the user who has an email address.

    Args:
        email: For example something@example.com.
    """
    for name, user in data["users"].items():
        if user["email"].lower() == email.lower():
            return str(name)
    raise ToolError("there is no such user")


def find_user_id_by_name_zip(data: dict[str, Any], first_name: str, last_name: str, zip: str) -> str:
    """Find a user by name and postal code.

    Args:
        zip: The postal code, for example 12345.
    """
    wanted = (first_name.lower(), last_name.lower(), zip)
    for name, user in data["users"].items():
        if (user["name"]["first_name"].lower(), user["name"]["last_name"].lower(), user["address"]["zip"]) == wanted:
            return str(name)
    raise ToolError("there is no such user")


def get_user_details(data: dict[str, Any], user_id: str) -> Any:
    """Show a user's profile with payment methods and orders.

    Args:
        user_id: For example sara_doe_000.
    """
    return _user(data, user_id)


def get_order_details(data: dict[str, Any], order_id: str) -> Any:
    """Show an order.

    Args:
        order_id: With its sign, for example #W0000000.
    """
    return _shown(_order(data, order_id))


def get_product_details(data: dict[str, Any], product_id: str) -> Any:
    """Show a product with all of its variants.

    Args:
        product_id: Not the id of an item.
    """
    if product_id not in data["products"]:
        raise ToolError(f"there is no product {product_id}")
    return data["products"][product_id]


def get_item_details(data: dict[str, Any], item_id: str) -> Any:
    """Show one variant of a product.

    Args:
        item_id: Not the id of a product.
    """
    for product in data["products"].values():
        if item_id in product["variants"]:
            return product["variants"][item_id]
    raise ToolError(f"there is no item {item_id}")


def list_all_product_types(data: dict[str, Any]) -> dict[str, str]:
    """List the products by name, each with its id."""
    return dict(sorted((product["name"], product["product_id"]) for product in data["products"].values()))


def calculate(data: dict[str, Any], expression: str) -> str:
    """Calculate the value of an expression.

    Args:
        expression: Numbers, + - * / and brackets.
    """
    return calculated(expression)


def transfer_to_human_agents(data: dict[str, Any], summary: AsGiven[str]) -> str:
    """Hand the user over to a person, if the policy says so or they ask for it and no tool can help.

    Args:
        summary: What the user wants.
    """
    return "The user was transferred to a person."


def _order(data: dict[str, Any], order_id: str, status: str | None = None) -> Any:
    if order_id not in data["orders"]:
        raise ToolError(f"there is no order {order_id}; the id begins with #W")
    order = data["orders"][order_id]
    if status is not None and order["status"] != status:
        raise ToolError(f"the order is not {status} but {order['status']}")
    return order


def _require_pending(order: Any) -> None:
    """Modified orders are still pending here."""
    if "pending" not in order["status"]:
        raise ToolError(f"the order is not pending but {order['status']}")


def _user(data: dict[str, Any], user_id: str) -> Any:
    if user_id not in data["users"]:
        raise ToolError(f"there is no user {user_id}")
    return data["users"][user_id]


def _owner(data: dict[str, Any], order: Any) -> Any:
    return _user(data, order["user_id"])


def _method(methods: Any, method_id: str) -> Any:
    if method_id not in methods:
        raise ToolError(f"{method_id} is not a payment method of this user")
    return methods[method_id]


def _affordable(owner: Any, method_id: str, amount: float) -> Any:
    method = _method(owner["payment_methods"], method_id)
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise ToolError(f"{method_id} does not hold {amount}")
    return method


def _credit(methods: Any, method_id: str, amount: float) -> None:
    if methods[method_id]["source"] == "gift_card":
        methods[method_id]["balance"] = round(methods[method_id]["balance"] + amount, 2)


def _entry(kind: str, amount: float, method_id: str) -> dict[str, Any]:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": method_id}


def _item(order: Any, item_id: str) -> Any:
    """The first item of an order with that id."""
    item = next((item for item in order["items"] if item["item_id"] == item_id), None)
    if item is None:
        raise ToolError(f"the order has no item {item_id}")
    return item


def _check_counts(order: Any, item_ids: Sequence[str]) -> None:
    held = Counter(item["item_id"] for item in order["items"])
    for item, times in Counter(item_ids).items():
        if times > held[item]:
            raise ToolError(f"the order does not have {times} of {item}")


def _pairs(item_ids: Sequence[str], new_item_ids: Sequence[str]) -> list[tuple[str, str]]:
    if len(item_ids) != len(new_item_ids):
        raise ToolError("there must be as many new items as old ones")
    return list(zip(item_ids, new_item_ids, strict=True))


def _new_variant(data: dict[str, Any], order: Any, old: str, new: str) -> Any:
    variant = data["products"][_item(order, old)["product_id"]]["variants"].get(new)
    if variant is None or not variant["available"]:
        raise ToolError(f"{new} is not available as a variant of the same product")
    return variant


def _difference(data: dict[str, Any], order: Any, pairs: Sequence[tuple[str, str]], start: float) -> float:
    """What the new items cost more than the old ones, added up pair by pair (``sum`` would round otherwise)."""
    difference = start
    for old, new in pairs:
        difference += _new_variant(data, order, old, new)["price"] - _item(order, old)["price"]
    return difference


def _address(address1: str, address2: str, city: str, state: str, country: str, zip: str) -> dict[str, str]:
    return {
        "address1": address1, "address2": address2, "city": city, "state": state, "country": country, "zip": zip,
    }  # fmt: skip


def _shown(order: Any) -> dict[str, Any]:
    """An order as agents see it: what it lacks is null."""
    return {**dict.fromkeys(_OPTIONAL), **order}

"""Datasets and files: what can be fetched, what a file holds, what is wrong with it, and turning it into another."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.data.anonymise import Anonymiser, check_kind, read_gazetteer
    from dialgauge.data.checking.examine import check
    from dialgauge.data.checking.report import Report
    from dialgauge.data.checking.show import show
    from dialgauge.data.conversion import convert
    from dialgauge.data.datasets import catalogue
    from dialgauge.data.fetch import TransferProgress
    from dialgauge.data.folder import Folder, data_folder
    from dialgauge.data.install import Watcher, get, offline, remove
    from dialgauge.data.places import dataset_file, dataset_folder
    from dialgauge.data.verification import listing, listing_table, verification_table, verify

__all__ = [
    "Anonymiser",
    "Folder",
    "Report",
    "TransferProgress",
    "Watcher",
    "catalogue",
    "check",
    "check_kind",
    "convert",
    "data_folder",
    "dataset_file",
    "dataset_folder",
    "get",
    "listing",
    "listing_table",
    "offline",
    "read_gazetteer",
    "remove",
    "show",
    "verification_table",
    "verify",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)

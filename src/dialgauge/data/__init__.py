"""Datasets and files: what can be fetched, what a file holds, what is wrong with it, and turning it into another."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.data.anonymise import Anonymiser, Gazetteer, check_kind, read_gazetteer
    from dialgauge.data.checking.examine import check
    from dialgauge.data.checking.report import Finding, FindingPlace, GroupReport, Report
    from dialgauge.data.checking.show import show
    from dialgauge.data.conversion import convert
    from dialgauge.data.datasets import Catalogue, Dataset, Member, Remote, catalogue, parse_catalogue
    from dialgauge.data.fetch import Patience, TransferProgress, fetch_file
    from dialgauge.data.folder import Folder, data_folder, dataset_file, dataset_folder
    from dialgauge.data.install import InstalledDataset, Watcher, clear_leftovers, get, offline, remove
    from dialgauge.data.unpack import unpack_archive
    from dialgauge.data.verification import listing, listing_table, verification_table, verify

__all__ = [
    "Anonymiser",
    "Catalogue",
    "Dataset",
    "Finding",
    "FindingPlace",
    "Folder",
    "Gazetteer",
    "GroupReport",
    "InstalledDataset",
    "Member",
    "Patience",
    "Remote",
    "Report",
    "TransferProgress",
    "Watcher",
    "catalogue",
    "check",
    "check_kind",
    "clear_leftovers",
    "convert",
    "data_folder",
    "dataset_file",
    "dataset_folder",
    "fetch_file",
    "get",
    "listing",
    "listing_table",
    "offline",
    "parse_catalogue",
    "read_gazetteer",
    "remove",
    "show",
    "unpack_archive",
    "verification_table",
    "verify",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)

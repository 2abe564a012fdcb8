"""Datasets and files: what can be fetched, what a file holds, what is wrong with it, and turning it into another."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.data.check_report import check_page as check_page
    from dialgauge.data.checking import (
        Finding as Finding,
        FindingPlace as FindingPlace,
        GroupReport as GroupReport,
        Report as Report,
        check as check,
    )
    from dialgauge.data.conversion import convert as convert
    from dialgauge.data.datasets import (
        Catalogue as Catalogue,
        Dataset as Dataset,
        Folder as Folder,
        Member as Member,
        Remote as Remote,
        catalogue as catalogue,
        data_folder as data_folder,
        dataset_file as dataset_file,
        dataset_folder as dataset_folder,
        listing_page as listing_page,
        parse_catalogue as parse_catalogue,
    )
    from dialgauge.data.fetch import (
        Patience as Patience,
        TransferProgress as TransferProgress,
        fetch_file as fetch_file,
    )
    from dialgauge.data.install import (
        InstalledDataset as InstalledDataset,
        Watcher as Watcher,
        clear_leftovers as clear_leftovers,
        get as get,
        is_intact as is_intact,
        offline as offline,
        unpack_archive as unpack_archive,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)

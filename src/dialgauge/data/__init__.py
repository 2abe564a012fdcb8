"""Datasets and files: what can be fetched, what a file holds, what is wrong with it, and turning it into another."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.data.checking.examine import check as check
    from dialgauge.data.checking.report import (
        Finding as Finding,
        FindingPlace as FindingPlace,
        GroupReport as GroupReport,
        Report as Report,
    )
    from dialgauge.data.checking.show import show as show
    from dialgauge.data.conversion import convert as convert
    from dialgauge.data.dataset_list import listing as listing, listing_table as listing_table
    from dialgauge.data.datasets import (
        Catalogue as Catalogue,
        Dataset as Dataset,
        Member as Member,
        Remote as Remote,
        catalogue as catalogue,
        parse_catalogue as parse_catalogue,
    )
    from dialgauge.data.fetch import (
        Patience as Patience,
        TransferProgress as TransferProgress,
        fetch_file as fetch_file,
    )
    from dialgauge.data.folder import (
        Folder as Folder,
        data_folder as data_folder,
        dataset_file as dataset_file,
        dataset_folder as dataset_folder,
    )
    from dialgauge.data.install import (
        InstalledDataset as InstalledDataset,
        Watcher as Watcher,
        clear_leftovers as clear_leftovers,
        get as get,
        is_intact as is_intact,
        offline as offline,
    )
    from dialgauge.data.proposal import proposed_mapping as proposed_mapping
    from dialgauge.data.unpack import unpack_archive as unpack_archive


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)

"""Datasets and files: what can be fetched, what a file holds, what is wrong with it, and turning it into another."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.data.anonymise import (
        Anonymiser as Anonymiser,
        Gazetteer as Gazetteer,
        check_kind as check_kind,
        read_gazetteer as read_gazetteer,
    )
    from dialgauge.data.checking.examine import check as check
    from dialgauge.data.checking.report import (
        Finding as Finding,
        FindingPlace as FindingPlace,
        GroupReport as GroupReport,
        Report as Report,
    )
    from dialgauge.data.checking.show import show as show
    from dialgauge.data.conversion import convert as convert
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
        offline as offline,
        remove as remove,
    )
    from dialgauge.data.unpack import unpack_archive as unpack_archive
    from dialgauge.data.verification import (
        listing as listing,
        listing_table as listing_table,
        verification_table as verification_table,
        verify as verify,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)

"""How studies are shown: which measure predicts success, and success under each condition."""

from __future__ import annotations

from dialgauge.lab.study import condition_words, nothing_to_predict
from dialgauge.report import Cell, Chart, Column, Number, Table, View
from dialgauge.runs import Run
from dialgauge.tasks import CONVERSATIONS

_PERCENT = Number(1, percent=True)


def study_verdict(run: Run) -> str:
    """Which measure predicts success best, how well, and which cannot be told apart from it."""
    if reasons := nothing_to_predict(run.table(CONVERSATIONS)["success"]):
        return " ".join(reasons)
    best, *others = run.table("predictors").iter_rows(named=True)
    level = [row["measure"] for row in others if row["behind_low"] <= 0]
    same = f" Not significantly worse: {', '.join(level)}." if level else ""
    return (
        f"{best['measure']} predicts success best: it scores a successful conversation above a failed one in "
        f"{best['auc']:.1%} of pairs (95% interval {100 * best['auc_low']:.1f} to {100 * best['auc_high']:.1f}).{same}"
    )


def predictors(run: Run) -> Table:
    """The measures by how well they predict success."""
    table = Table(
        "Which measure of the tracker predicts success?",
        [
            Column("measure"),
            Column("AUC", Number(3), help="how often a success scores above a failure; 0.5 is guessing"),
            Column("gap", Number(3), help="to the best measure, on the same conversations", spare=1),
            Column("within", Number(3), help="the AUC within conditions", spare=2),
            Column("tau", Number(2), help="rank correlation with success, over conditions", spare=2),
            Column(
                "error",
                _PERCENT,
                help="mean error of predicting a condition's success from a line through the others",
                spare=3,
            ),
        ],
        chart=Chart("intervals", ("AUC",)),
        notes=["95% intervals resample goals."],
    )
    for row in run.table("predictors").iter_rows(named=True):
        ends = [Cell(row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in ("auc", "behind")]
        table.add(row["measure"], *ends, row["auc_within"], row["tau"], row["error"])
    return table


def conditions(run: Run) -> Table:
    """Success and the measures under each condition."""
    names = ("JGA", "FGA@0.5", "F1", "SA")
    columns = [Column(name, _PERCENT) for name in ("success", *names)]
    table = Table("Conditions", ["channel to the system", *columns], first=25)
    for row in run.table("conditions").iter_rows(named=True):
        table.add(condition_words(row["condition"]), row["success"], *(row[name] for name in names))
    return table


def success_by_measure(run: Run) -> Table:
    """Success over joint goal accuracy and the best predictor, condition by condition."""
    rows = run.table("conditions").sort("JGA").iter_rows(named=True)
    table = Table(
        "Success of conditions by their scores",
        [Column("JGA", _PERCENT), Column("success", _PERCENT), Column("condition", spare=1)],
        first=0,
        chart=Chart("lines", ("success",)),
    )
    for row in rows:
        table.add(row["JGA"], row["success"], row["condition"])
    return table


VIEW = View(
    verdict=study_verdict,
    tables={"predictors": predictors, "conditions": conditions, "success": success_by_measure},
    screen=("predictors", "conditions"),
)

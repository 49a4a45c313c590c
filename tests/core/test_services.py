"""Which services scorers use, and what a config may choose of them."""

from __future__ import annotations

import pytest

from scoring.core import local_services, services
from scoring.core.contract import ConfigError
from scoring.core.scorers import llm_judge
from scoring.core.services import AvailableServices
from tests.support.coordinates import Coordinates


def test_the_same_one_answers_every_batch_unless_another_is_named() -> None:
    assert services.current_services() is services.current_services()
    other = Coordinates()
    with services.use_services(other):
        assert services.current_services() is other
    assert services.current_services() is local_services.local_services()


BOTH = AvailableServices(["main", "own"], default_connection="main", has_environment_key=True)


@pytest.mark.parametrize(
    ("wanted", "available", "chosen"),
    [
        (None, BOTH, "main"),
        ("own", BOTH, "own"),
        ("environment", BOTH, "environment"),
        ("own", AvailableServices(["own"]), "own"),
        (None, AvailableServices(["own"], has_environment_key=True), "environment"),
        (None, AvailableServices(has_environment_key=True), "environment"),
        (None, AvailableServices(), None),
    ],
)
def test_saving_chooses_the_connection(
    wanted: str | None, available: AvailableServices, chosen: str | None
) -> None:
    config = llm_judge.FactualityConfig(model="m", connection=wanted)
    assert llm_judge.resolve_defaults(config, available).connection == chosen


@pytest.mark.parametrize("available", [AvailableServices(), AvailableServices(["main"], "main")])
def test_a_connection_the_team_has_not_is_refused_at_saving(available: AvailableServices) -> None:
    with pytest.raises(ConfigError, match="no connection 'gone'"):
        llm_judge.resolve_defaults(
            llm_judge.FactualityConfig(model="m", connection="gone"), available
        )


@pytest.mark.parametrize("names", [["own"], ["own", "spare"]])
def test_a_connection_that_is_not_the_default_is_never_chosen_by_itself(names: list[str]) -> None:
    with pytest.raises(ConfigError, match="choose a connection: the team has no default one"):
        AvailableServices(names).choose_connection(None)

"""A desk by its address."""

import pytest

from breakeven.desks import FolderDesk, Journal, LabelStudio, SignedWebhook, open_desk
from breakeven.errors import InvalidInput

SECRETS = {"LABEL_STUDIO_TOKEN": "a token", "BREAKEVEN_DESK_SECRET": "a secret of sixteen letters"}


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("folder:desk", FolderDesk),
        ("folder+jsonl:///tmp/desk", FolderDesk),
        ("label-studio://studio.example/12", LabelStudio),
        ("label-studio+http://127.0.0.1:8080/below/12?control=y&yes=1&no=0", LabelStudio),
        ("webhook:https://tool.example/tasks", SignedWebhook),
    ],
)
def test_an_address_names_a_desk(address, kind):
    assert isinstance(open_desk(address, Journal(), SECRETS), kind)


def test_a_folder_is_where_the_address_says():
    desk = open_desk("folder:///tmp/desk", Journal(), {})
    assert str(desk.folder) == "/tmp/desk"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("prodigy://there", "desk: expected folder:PATH"),
        ("folder:", "desk: expected folder:PATH"),
        ("webhook:ftp://there", "desk: expected folder:PATH"),
        ("label-studio://studio.example/", "desk: expected label-studio://HOST/PROJECT with the number"),
        ("label-studio://studio.example/12?yes=many", "desk: expected a number behind every choice"),
    ],
)
def test_an_address_of_no_desk_is_refused(address, words):
    with pytest.raises(InvalidInput, match=words):
        open_desk(address, Journal(), SECRETS)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("label-studio://studio.example/12", "LABEL_STUDIO_TOKEN"),
        ("webhook:http://tool", "BREAKEVEN_DESK_SECRET"),
    ],
)
def test_a_secret_that_is_missing_is_named(address, name):
    with pytest.raises(InvalidInput, match=f"{name}: expected a secret in this variable of the environment"):
        open_desk(address, Journal(), {})

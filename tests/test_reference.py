"""The API reference is complete, and docstrings have the form that it needs."""

import importlib
import inspect
import pkgutil
from functools import cached_property

import pytest

import credalis
from api_pages import documented
from pages import ROOT

REFERENCE = documented()
# Optional packages without which a module cannot be imported.
NEEDS = {"credalis.cli": "click", "credalis.app": "starlette"}


def modules():
    """Public modules, by name; the report is a function with a module of its name."""
    names = [
        f"credalis.{module.name}"
        for module in pkgutil.iter_modules(credalis.__path__)
        if not module.name.startswith("_")
    ]
    found = {"credalis": credalis}
    for name in names:
        if name in NEEDS:
            pytest.importorskip(NEEDS[name])
        found[name] = importlib.import_module(name)
    return found


def listed_objects():
    return {
        id(getattr(importlib.import_module(module), name))
        for module, names in REFERENCE.items()
        for name in names
        if module not in NEEDS
    }


def test_every_public_name_is_on_one_page_of_the_reference():
    there = listed_objects()
    missing = []
    for module_name, module in modules().items():
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value):
                assert f"credalis.{name}" in REFERENCE
            elif id(value) not in there and name not in REFERENCE.get(module_name, ()):
                missing.append(f"{module_name}.{name}")
    assert not missing, f"docs/reference/api does not list {', '.join(missing)}"


def test_the_reference_lists_only_public_names_and_each_once():
    for module_name, names in REFERENCE.items():
        if module_name in NEEDS:
            pytest.importorskip(NEEDS[module_name])
        public = importlib.import_module(module_name).__all__
        assert set(names) <= set(public)
        assert len(set(names)) == len(names)


def test_every_page_of_the_reference_is_in_its_contents():
    folder = ROOT / "docs" / "reference" / "api"
    contents = (folder / "index.rst").read_text("utf-8").split()
    assert {page.stem for page in folder.glob("*.rst")} - {"index"} <= set(contents)


# What numpydoc asks for beyond what we want:
IGNORED = {
    "ES01": "a summary is enough where it says all",
    "EX01": "classes have examples; functions where they help",
    "SA01": "See Also is for names that are hard to find",
    "GL08": "properties of data classes are described under Parameters or Attributes",
    "PR03": "parameters that another docstring describes are named together",
    "PR04": "the same",
    "PR08": "a description may begin with a symbol or a name",
    "RT02": "what is returned may have a name",
    "RT03": "what a function returns is often said by its first sentence",
    "SA03": "a description may begin with a symbol or a name",
    "SS02": "a summary may begin with a symbol, as in b(A)",
    "SS03": "a summary may end with a formula",
    "SS05": "possessives such as Dempster's are taken for verbs",
}
# Parts of which the methods are made: docstrings say what is computed and in which
# shape; types are those of the signature.
BUILDING_BLOCKS = {
    "credalis.cluster",
    "credalis.dissimilarity",
    "credalis.network",
    "credalis.objectives",
    "credalis.optimize",
    "credalis.partition",
    "credalis.sources",
    "credalis.tables",
    "credalis.tabular",
}
NOT_OF_BLOCKS = {"PR01", "PR07", "RT01", "YD01"}


def documented_names():
    """Classes, functions, and what classes define themselves."""
    for module_name, names in REFERENCE.items():
        if module_name in NEEDS:
            continue
        module = importlib.import_module(module_name)
        for name in names:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield module_name, f"{module_name}.{name}"
            if inspect.isclass(value):
                for member, attribute in vars(value).items():
                    kinds = (property, cached_property, classmethod, staticmethod)
                    if member.startswith("_"):
                        continue
                    if inspect.isfunction(attribute) or isinstance(attribute, kinds):
                        yield module_name, f"{module_name}.{name}.{member}"


@pytest.mark.parametrize("module", sorted(set(REFERENCE) - set(NEEDS)))
def test_docstrings_have_the_form_of_numpydoc(module):
    validate = pytest.importorskip("numpydoc.validate").validate
    wrong = []
    for owner, name in documented_names():
        # A module has the name of this function, where numpydoc looks for it.
        if owner != module or name == "credalis.report":
            continue
        result = validate(name)
        ignored = set(IGNORED) | (NOT_OF_BLOCKS if owner in BUILDING_BLOCKS else set())
        # Values that callers get, but do not make, have attributes instead.
        if "\nAttributes\n---" in result["docstring"]:
            ignored.add("PR01")
        if "\nYields\n---" in result["docstring"]:
            ignored.add("RT01")
        wrong += [
            f"{name}: {code} {message}"
            for code, message in result["errors"]
            if code not in ignored
        ]
    assert not wrong, "\n".join(wrong)

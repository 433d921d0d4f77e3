"""Names of the library in `code` are links to the reference.

A page writes `NNEVCLUS`, `credalis.explain`, `CredalPartition.decide` or `save()` as
code, as one would without a site; where the name is one of the reference, it becomes a
link. Nothing has to be marked, and the page reads the same in the repository.
"""

import importlib
import inspect
import re
from functools import cached_property
from types import FunctionType

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

import credalis

# Words of everyday language that are also names: only with their module are they meant.
_TOO_COMMON = {"Source", "Table", "Columns", "Entropy", "Sum", "Scaled", "Objective"}
_NAME = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?P<call>\(.*\))?$", re.S)


def modules_of_the_reference():
    """Public modules whose names the reference documents, the package first.

    The list of pages in ``reference/api`` is the source; a test compares it with the
    package.
    """
    from api_pages import documented

    return documented()


def link_targets():
    """What a name in a page leads to: short and full names → name in the reference."""
    targets = {}
    for module_name, names in modules_of_the_reference().items():
        module = importlib.import_module(module_name)
        # The name of the package is that of the command, too.
        if module_name != "credalis":
            targets[module_name] = module_name
        for name in names:
            full = f"{module_name}.{name}"
            value = getattr(module, name)
            targets[full] = full
            # Verbs such as `combine` are names of several things; classes are not.
            if inspect.isclass(value) and name not in _TOO_COMMON:
                targets.setdefault(name, full)
                for method in _documented_members(value):
                    targets.setdefault(f"{name}.{method}", f"{full}.{method}")
    for name in credalis.__all__:
        # A word such as `belief` is an attribute more often than a module.
        if not inspect.ismodule(getattr(credalis, name)):
            full = f"credalis.{name}"
            targets.setdefault(name, targets.get(full, full))
    return targets


def _documented_members(value):
    """Methods and properties that the page of a class shows."""
    kinds = (property, cached_property, classmethod, staticmethod, FunctionType)
    for name, member in vars(value).items():
        if isinstance(member, kinds) and member.__doc__ and not name.startswith("_"):
            yield name


class LinkNames(SphinxTransform):
    """Turns literals that are names of the reference into references."""

    default_priority = 700

    def apply(self, **options):
        """Look at every literal of a page that is written by hand."""
        targets = self.app.public_names
        if self.env.docname == "reference/glossary":
            targets = self.app.short_names | targets
        for literal in list(self.document.findall(nodes.literal)):
            parents = (nodes.reference, nodes.title, addnodes.pending_xref)
            parent = literal.parent
            while parent is not None and not isinstance(parent, parents):
                parent = parent.parent
            match = _NAME.match(literal.astext())
            if parent is not None or match is None:
                continue
            target = targets.get(match["name"])
            if target is None:
                continue
            link = addnodes.pending_xref(
                "",
                literal.deepcopy(),
                refdomain="py",
                reftype="obj",
                reftarget=target,
                refexplicit=True,
                refwarn=False,
                refdoc=self.env.docname,
            )
            literal.replace_self(link)


def short_names():
    """What single words of the glossary lead to, where they can be mistaken."""
    targets = {}
    for attribute in _documented_members(credalis.FocalSets):
        full = f"credalis.FocalSets.{attribute}"
        targets[f"focal_sets.{attribute}"] = full
    for module_name, names in modules_of_the_reference().items():
        module = importlib.import_module(module_name)
        for name in names:
            if inspect.isfunction(getattr(module, name)):
                targets.setdefault(name, f"{module_name}.{name}")
    for attribute in _documented_members(credalis.CredalPartition):
        targets.setdefault(attribute, f"credalis.CredalPartition.{attribute}")
    return targets


def _collect(app):
    app.public_names = link_targets()
    app.short_names = short_names()


def setup(app):
    """Look for names after a page has been parsed."""
    app.connect("builder-inited", _collect)
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Selects rows with permit-datafilter."""

from permit_datafilter.boolean_expression.schemas import ResidualPolicyResponse
from permit_datafilter.plugins.sqlalchemy import to_query

from documents import answer_questions, ask, documents

columns = {
    f"input.resource.{column.name}"
    if column.name in ("key", "tenant")
    else f"input.resource.attributes.{column.name}": column
    for column in documents.columns
}


def select(user, action):
    residual = ask("/filter_resources", {"user": user, "action": action, "resource": {"type": "document"}})
    return None if residual is None else to_query(ResidualPolicyResponse(**residual), documents, refs=columns)


answer_questions(select)

"""Selects rows with cerbos-sqlalchemy."""

from cerbos.sdk.model import PlanResourcesResponse
from cerbos_sqlalchemy import get_query

from documents import answer_questions, ask, documents

columns = {
    "request.resource.id" if column.name == "key" else f"request.resource.attr.{column.name}": column
    for column in documents.columns
}


def select(user, action):
    principal = {"id": user, "roles": ["user"]}
    plan = ask("/api/plan/resources", {"principal": principal, "action": action, "resource": {"kind": "document"}})
    return None if plan is None else get_query(PlanResourcesResponse.from_dict(plan), documents, columns)


answer_questions(select)

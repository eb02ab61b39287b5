"""The table of `documents-world.ts` in SQLite, and requests to the decision point, for the published clients for Python."""

import json
import sys
import urllib.error
import urllib.request

import sqlalchemy as sa

# The world: `url`, `key`, the names and the rows of the table, and the questions.
world = json.load(sys.stdin)

types = {"level": sa.Integer}
documents = sa.Table(
    "documents", sa.MetaData(), *[sa.Column(name, types.get(name, sa.String)) for name in world["names"]]
)
engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
documents.metadata.create_all(engine)
with engine.begin() as connection:
    connection.execute(documents.insert(), [dict(zip(world["names"], row)) for row in world["rows"]])


def ask(path, body):
    """Returns the answer, or None if the filter is refused."""
    headers = {"Authorization": f"Bearer {world['key']}", "Content-Type": "application/json"}
    request = urllib.request.Request(world["url"] + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 422 and "cannot express" in error.read().decode():
            return None
        raise


def answer_questions(select):
    """Prints the selected keys for each question. `select` returns a query for a user and an action, or None."""
    answers = []
    for user, action in world["questions"]:
        query = select(user, action)
        with engine.connect() as connection:
            answers.append("refused" if query is None else [row["key"] for row in connection.execute(query).mappings()])
    print(json.dumps(answers))

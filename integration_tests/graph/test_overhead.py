"""What reading memories costs beside the model's own time.

Judged by the processor's time: on a busy machine everything also waits, whatever it does.
"""

import json
import time

from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.engines import make_engine

DOCUMENTS = 25
MODEL_SECONDS = 0.2
MOST = 0.1


def test_reading_takes_little_more_than_the_model_does(tmp_path):
    spent = []

    def answer(_messages):
        started, number = time.perf_counter(), len(spent)
        time.sleep(MODEL_SECONDS)
        triples = [
            [f"Person {number}", "works with", f"Person {number + 1}"],
            [f"Person {number}", "works at", "ACME"],
            ["ACME", "makes", f"Product {number}"],
        ]
        spent.append(time.perf_counter() - started)
        return json.dumps({"relations": triples})

    model = ScriptedChatModel(replies=answer)
    with make_engine(tmp_path, chat_model=model, graph_learning="all") as engine:
        engine.add_texts(["The first document tells of ACME."])
        engine.run_jobs()  # imports what the others find there
        spent.clear()
        engine.add_texts([f"Document {number} tells of ACME." for number in range(DOCUMENTS)])
        started = time.process_time()
        engine.run_jobs()
        work = time.process_time() - started
        assert engine.graph.counts().relations == 3 * DOCUMENTS
    assert len(spent) == DOCUMENTS
    assert work < MOST * sum(spent)

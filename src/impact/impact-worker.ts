/** Process that compares states of an environment. It receives all its input in messages. */

import { constants, setPriority } from 'node:os';
import { errorMessage } from '../failure.js';
import { answerChecks } from './answer-checks.js';
import { answerExplanation } from './answer-explanation.js';
import { answerImpact } from './answer-impact.js';
import { HeldEnvironment } from './held-environment.js';
import { isTooLarge, MemoryGuard } from './memory-guard.js';
import type { Answered, Answers, Asked, Question } from './messages.js';

// A comparison keeps a processor busy for seconds, so the API server gets priority.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const [mebibytes] = process.argv.slice(2);
const guard = new MemoryGuard(Number(mebibytes) * 2 ** 20);
const held = new HeldEnvironment(guard.run);

async function answer(question: Question): Promise<Answers[keyof Answers]> {
	guard.check();
	switch (question.kind) {
		case 'hold':
			await held.take(question.bundle);
			return null;
		case 'impact':
			return answerImpact(held.state, question.question, guard.run);
		case 'checks':
			return answerChecks(held.state, question.question, guard.run);
		case 'explanation':
			return answerExplanation(held.state, question.question, guard.run);
	}
}

function send(answered: Answered, then: () => void = () => undefined): void {
	process.send?.(answered, then);
}

// A terminal sends signals to all its processes. This process ignores the signals, because the API ends it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', ({ id, question }: Asked) => {
	answer(question).then(
		(value) => send({ id, value }),
		// End the process, because its state may be only partly changed.
		(error: unknown) => send({ id, failure: errorMessage(error), too_large: isTooLarge(error) }, () => process.exit(1)),
	);
});

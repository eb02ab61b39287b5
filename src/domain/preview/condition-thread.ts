/** Evaluates conditions in a separate thread, because requests may contain expensive conditions. */

import type { Condition } from '../../../compiler/condition/condition.js';
import type { Subject as ExplainedSubject, Trace } from '../../../compiler/condition/explain-condition.js';
import { Failure } from '../../failure.js';
import { LimitedThread } from '../../limit/limited-thread.js';
import { asJson, type RelatedInstances, type Subject } from './condition-subject.js';

/** Maximum evaluation time per request, in milliseconds. */
const maxMilliseconds = 10_000;

/** A request to the thread. `conditions` is JSON, and also the key under which the compiled form is cached. */
export type ConditionQuestion =
	| { readonly kind: 'select'; readonly conditions: string; readonly subjects: readonly Subject[] }
	| {
			readonly kind: 'explain';
			readonly conditions: string;
			readonly subject: ExplainedSubject;
			readonly related: RelatedInstances;
	  };

/** Reply from the thread. `traces` is `null` if the explanation is too large. */
export type ConditionAnswer =
	| { readonly selected: readonly boolean[]; readonly milliseconds: number }
	| { readonly traces: readonly Trace[] | null };

const thread = new LimitedThread<ConditionQuestion, ConditionAnswer>(new URL('./condition-worker.js', import.meta.url));

/** Selects subjects by conditions, within a request's time limit. */
export class ConditionSelector {
	readonly #conditions: string;
	#milliseconds = maxMilliseconds;

	constructor(conditions: readonly Condition[]) {
		this.#conditions = JSON.stringify(conditions);
	}

	/**
	 * Returns an array that is true for each subject that fulfils all conditions. Throws `limit_reached` after the time
	 * limit.
	 */
	async select(subjects: readonly Subject[]): Promise<readonly boolean[]> {
		const question = { kind: 'select', conditions: this.#conditions, subjects } as const;
		const answer = await thread.ask(question, this.#milliseconds);
		if (answer === 'late' || !('selected' in answer)) throw tooLong();
		this.#milliseconds -= answer.milliseconds;
		return answer.selected;
	}
}

/**
 * Explains conditions, in the passed order. Throws `limit_reached` if an explanation exceeds the time or size limit.
 */
export async function explainConditions(
	conditions: readonly Condition[],
	{ user, resource, tenant, context, now, related = new Map() }: Subject,
): Promise<readonly Trace[]> {
	const subject = {
		user: asJson(user),
		resource: asJson(resource),
		tenant: asJson(tenant),
		context: asJson(context),
		now,
	};
	const question = { kind: 'explain', conditions: JSON.stringify(conditions), subject, related } as const;
	const answer = await thread.ask(question, maxMilliseconds);
	if (answer === 'late' || !('traces' in answer)) throw tooLong();
	if (answer.traces === null) {
		throw new Failure('limit_reached', 'the explanation is larger than 2 MiB: preview fewer conditions');
	}
	return answer.traces;
}

function tooLong(): Failure {
	const seconds = maxMilliseconds / 1_000;
	return new Failure(
		'limit_reached',
		`the conditions take longer than ${seconds} s to evaluate: preview fewer conditions`,
	);
}

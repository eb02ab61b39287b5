import type { Condition } from '../../../compiler/condition/condition.js';
import { explainCondition, type Trace } from '../../../compiler/condition/explain-condition.js';
import { answerQuestions } from '../../limit/limited-thread.js';
import { CompiledPatterns } from '../../pattern/compiled-patterns.js';
import { instanceName } from '../../wire/common.js';
import { conditionPredicate } from './condition-predicate.js';
import type { ConditionAnswer, ConditionQuestion } from './condition-thread.js';

/** Worker for `condition-thread.ts`. */

/** Maximum number of compiled predicates to keep between preview chunks. */
const maxKept = 8;

/** Maximum explanation length as JSON, in characters. */
const maxExplanation = 2 * 1024 * 1024;

type Explained = Extract<ConditionQuestion, { readonly kind: 'explain' }>;
type Predicate = ReturnType<typeof conditionPredicate>;

const predicates = new Map<string, Predicate>();

answerQuestions<ConditionQuestion, ConditionAnswer>((question) => {
	if (question.kind === 'explain') return { traces: explain(question) };
	const start = performance.now();
	const selected = question.subjects.map(compile(question.conditions));
	return { selected, milliseconds: performance.now() - start };
});

function compile(conditions: string): Predicate {
	const known = predicates.get(conditions) ?? conditionPredicate(parse(conditions));
	if (predicates.size >= maxKept) predicates.clear();
	predicates.set(conditions, known);
	return known;
}

function explain({ conditions, subject, related: instances }: Explained): readonly Trace[] | null {
	const { matches } = new CompiledPatterns();
	const related = (type: string, key: string) => instances.get(instanceName(type, key)) ?? {};
	const traces = parse(conditions).map((condition) => explainCondition(condition, subject, { related, matches }));
	return JSON.stringify(traces).length > maxExplanation ? null : traces;
}

function parse(conditions: string): readonly Condition[] {
	return JSON.parse(conditions);
}

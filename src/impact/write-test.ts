import { createHash } from 'node:crypto';
import { factTables, usesTime } from '../../compiler/index.js';
import type { Json, Schema } from '../../compiler/model.js';
import { jsonValue } from '../../compiler/rego/json-value.js';
import { Fragment, rego } from '../../compiler/rego/rego.js';
import type { EngineInput } from '../pdp/engine/engine.js';
import type { FactsOfCheck } from './facts-of-check.js';

/** A decided check, and the facts it depends on. */
export interface DecidedCheck {
	readonly input: EngineInput;
	readonly allow: boolean;
	readonly facts: FactsOfCheck;
	/** Schema of the policy that decided the check. */
	readonly schema: Schema;
	readonly revision: number;
}

/**
 * Writes a check as a test for `opa test`, next to the policy of the same schema. The test includes its facts, so it
 * states the intent behind the schema and does not depend on stored data. It includes the time only if conditions
 * depend on the time.
 */
export function writeTest({ input: asked, allow, facts, schema, revision }: DecidedCheck): string {
	const { time, ...input } = asked;
	const sets = [...schema.condition_sets, ...(schema.grant_conditions ?? [])];
	const timed = sets.some(usesTime) ? { ...input, time } : input;
	const about = facts.minimal
		? 'These facts allow the check.'
		: 'These facts are the roles of the user and the paths to the instance.';
	return rego`package checks_test

import data.regolith.check

# ${new Fragment(allow ? 'Allowed' : 'Denied')} at revision ${revision}.
# ${new Fragment(about)}
${new Fragment(testName(input, allow))} if {
	${new Fragment(allow ? '' : 'not ')}check.allow with input as ${jsonValue(timed as unknown as Json, '\t')}
		with data.regolith.facts as ${jsonValue(factTables({ schema, facts: facts.facts }), '\t\t')}
}
`.text;
}

/** Returns a descriptive name for a test. Different checks have different names. */
function testName(input: Omit<EngineInput, 'time'>, allow: boolean): string {
	const { user, action, resource } = input;
	const words = [user.key, allow ? 'may' : 'may_not', action, resource.type, resource.key ?? ''];
	const plain = words.map((word) => word.replaceAll(/[^A-Za-z0-9]+/g, '_').slice(0, 40)).filter((word) => word !== '');
	const digest = createHash('sha256').update(JSON.stringify(input)).digest('hex').slice(0, 8);
	return `test_${plain.join('_')}_${digest}`;
}

/** Sampling for the decision log. The first matching rule determines the rate. */

import type { SamplingRule } from '../../config.js';
import type { EngineInput } from '../engine/engine.js';

/** Returns the share of decisions to log under the first matching rule; 1 if no rule matches. */
export function samplingRate(rules: readonly SamplingRule[], input: EngineInput, code: string): number {
	for (const rule of rules) if (matches(rule, input, code)) return rule.rate;
	return 1;
}

function matches(rule: SamplingRule, { user, action, resource }: EngineInput, code: string): boolean {
	return (
		(rule.allow === undefined || rule.allow === (code === 'allow')) &&
		(rule.code ?? code) === code &&
		(rule.user ?? user.key) === user.key &&
		(rule.action ?? action) === action &&
		(rule.resource_type ?? resource.type) === resource.type &&
		(rule.tenant ?? resource.tenant) === resource.tenant
	);
}

/** Names of two roles, of which the first is derived from the second. */
export interface DerivedName {
	readonly target: string;
	readonly source: string;
}

/**
 * Returns the stage of each computed role. `operands` contains each computed role with its operands. All roles that lead to
 * a computed role follow from computed roles of earlier stages, or are on the same instance. Omits computed roles that are
 * derived from themselves: they are in no policy.
 */
export function computedStages(
	operands: ReadonlyMap<string, readonly string[]>,
	derivations: readonly DerivedName[],
): ReadonlyMap<string, number> {
	const stages = new Map<string, number>();
	const stageOf = (name: string) => stages.get(name) ?? 0;
	for (let changed = true; changed; ) {
		changed = false;
		const raise = (name: string, stage: number) => {
			if (stage <= stageOf(name) || stage > operands.size) return;
			stages.set(name, stage);
			changed = true;
		};
		for (const [name, roles] of operands) for (const operand of roles) raise(name, stageOf(operand));
		for (const { target, source } of derivations) raise(target, stageOf(source) + (operands.has(source) ? 1 : 0));
	}
	return new Map(
		[...operands.keys()].map((name) => [name, stageOf(name)] as const).filter(([, stage]) => stage < operands.size),
	);
}

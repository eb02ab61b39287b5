/** Names of a derived role and its source. */
export interface DerivedName {
	readonly target: string;
	readonly source: string;
}

/**
 * Returns each computed role's stage. `operands` lists each computed role's operands. A computed role that leads to a
 * second computed role by a derivation has an earlier stage; if it leads there only as an operand, both may have the
 * same stage. Omits computed roles derived from themselves, which no policy contains.
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

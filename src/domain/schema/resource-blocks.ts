/** Parts of a resource as its body gives them, by key: its actions, attributes or relations. */
export type Blocks<B> = Readonly<Record<string, B>>;

/** The block of a key; `undefined` if the body has none. */
export function findBlock<B>(blocks: Blocks<B>, key: string): B | undefined {
	return Object.hasOwn(blocks, key) ? blocks[key] : undefined;
}

/** The blocks whose key no row has: those to be added. */
export function missingFrom<B>(
	existing: readonly { readonly key: string }[],
	blocks: Blocks<B>,
): readonly (readonly [key: string, block: B])[] {
	const keys = new Set(existing.map((row) => row.key));
	return Object.entries(blocks).filter(([key]) => !keys.has(key));
}

/** Rows as a resource shows them: by their key. */
export function recordByKey<R extends { readonly key: string }>(rows: readonly R[]): Record<string, R> {
	return Object.fromEntries(rows.map((row) => [row.key, row]));
}

/** The parts of a resource that its body says by key: its actions, attributes and relations. */
export type Blocks<B> = Readonly<Record<string, B>>;

/** The block of a key; `undefined` where the body does not name it. */
export function blockOf<B>(blocks: Blocks<B>, key: string): B | undefined {
	return Object.hasOwn(blocks, key) ? blocks[key] : undefined;
}

/** The blocks of which no row has the key: what is to be added. */
export function missingFrom<B>(
	existing: readonly { readonly key: string }[],
	blocks: Blocks<B>,
): readonly (readonly [key: string, block: B])[] {
	const keys = new Set(existing.map((row) => row.key));
	return Object.entries(blocks).filter(([key]) => !keys.has(key));
}

/** Rows as a resource shows them: by their key. */
export function byKey<R extends { readonly key: string }>(rows: readonly R[]): Record<string, R> {
	return Object.fromEntries(rows.map((row) => [row.key, row]));
}

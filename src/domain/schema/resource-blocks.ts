/** A resource's actions, attributes or relations in a body. Each field name is the key of a part. */
export type Blocks<B> = Readonly<Record<string, B>>;

/** Returns the block with this key; `undefined` if the body has none. */
export function findBlock<B>(blocks: Blocks<B>, key: string): B | undefined {
	return Object.hasOwn(blocks, key) ? blocks[key] : undefined;
}

/** Returns the blocks to add, which have no existing row. */
export function missingFrom<B>(
	existing: readonly { readonly key: string }[],
	blocks: Blocks<B>,
): readonly (readonly [key: string, block: B])[] {
	const keys = new Set(existing.map((row) => row.key));
	return Object.entries(blocks).filter(([key]) => !keys.has(key));
}

/** Returns an object that contains each row under its key, as in a resource's API object. */
export function recordByKey<R extends { readonly key: string }>(rows: readonly R[]): Record<string, R> {
	return Object.fromEntries(rows.map((row) => [row.key, row]));
}

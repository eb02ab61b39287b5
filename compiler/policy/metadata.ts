/**
 * METADATA blocks: they tell people and tools which schema object a piece of Rego stands for. OPA (1.22) takes packages
 * whose paths hold the same parts in another order (`roles.a.b` and `roles.b.a`) for one package and refuses a second
 * block on it. So only packages of `regolith.resources` have blocks of their own.
 */
import { type Fragment, lines, rego } from '../rego/rego.js';

/** What a block says. String literals of JSON are YAML too. */
export interface Metadata {
	readonly title: string;
	readonly description?: string | null;
	/** In the order in which they are to stand. */
	readonly custom?: readonly (readonly [name: Fragment, value: string])[];
}

/** A block, to be placed right above a package or a rule. */
export function metadata({ title, description = null, custom = [] }: Metadata): Fragment {
	return lines([
		rego`# METADATA`,
		rego`# title: ${title}`,
		...(description === null ? [] : [rego`# description: ${description}`]),
		...(custom.length === 0 ? [] : [rego`# custom:`]),
		...custom.map(([name, value]) => rego`#   ${name}: ${value}`),
	]);
}

/** The block of a schema object. `kind` is code: what the object is. */
export function objectMetadata(
	kind: Fragment,
	{ key, name, description }: { readonly key: string; readonly name: string; readonly description: string | null },
): Fragment {
	return lines([metadata({ title: name, description, custom: [[rego`key`, key]] }), rego`#   kind: ${kind}`]);
}

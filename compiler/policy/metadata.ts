/**
 * METADATA blocks. They show people and tools which schema object a piece of Rego was generated from. OPA (1.22)
 * confuses packages whose paths contain the same parts in a different order (`roles.a.b` and `roles.b.a`), and rejects
 * a block on the second package. Therefore only packages below `regolith.resources` have blocks.
 */
import { type Fragment, lines, rego } from '../rego/rego.js';

/** Block content. JSON string literals are also valid YAML. */
export interface Metadata {
	readonly title: string;
	readonly description?: string | null;
	/** In output order. */
	readonly custom?: readonly (readonly [name: Fragment, value: string])[];
}

/** Writes a block to place directly above a package or a rule. */
export function metadata({ title, description = null, custom = [] }: Metadata): Fragment {
	return lines([
		rego`# METADATA`,
		rego`# title: ${title}`,
		...(description === null ? [] : [rego`# description: ${description}`]),
		...(custom.length === 0 ? [] : [rego`# custom:`]),
		...custom.map(([name, value]) => rego`#   ${name}: ${value}`),
	]);
}

/** Writes a schema object's block. `kind` is the object's kind, as Rego code. */
export function objectMetadata(
	kind: Fragment,
	{ key, name, description }: { readonly key: string; readonly name: string; readonly description: string | null },
): Fragment {
	return lines([metadata({ title: name, description, custom: [[rego`key`, key]] }), rego`#   kind: ${kind}`]);
}

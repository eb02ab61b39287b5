import { type CompiledPolicy, compilePolicy, type Diagnostic, type Schema } from '../../compiler/index.js';

/** A generated file that differs. `null` where there is no such file. */
export interface DifferentFile {
	readonly path: string;
	readonly before: string | null;
	readonly after: string | null;
}

/** How the Rego of two schemas differs. */
export interface RegoDifference {
	/** The files that differ, by path. None if one of the schemas cannot be compiled. */
	readonly files: readonly DifferentFile[];
	/** What the compiler finds in the later schema. */
	readonly diagnostics: readonly Diagnostic[];
	/** Why there is nothing to compare; `null` if there is. */
	readonly failure: string | null;
}

/** Compares what the compiler makes of two schemas. */
export function regoDifference(before: Schema, after: Schema): RegoDifference {
	const compiled = compilePolicy(after);
	const { diagnostics } = compiled;
	if (compiled.policy === null) return { files: [], diagnostics, failure: 'the drafted schema cannot be compiled' };
	if (before === after) return { files: [], diagnostics, failure: null };
	const present = compilePolicy(before);
	if (present.policy === null) return { files: [], diagnostics, failure: 'the schema as it is cannot be compiled' };
	return { files: differentFiles(present.policy, compiled.policy), diagnostics, failure: null };
}

type Policy = NonNullable<CompiledPolicy['policy']>;

function differentFiles(before: Policy, after: Policy): readonly DifferentFile[] {
	const [old, young] = [textsByPath(before), textsByPath(after)];
	const paths = [...new Set([...old.keys(), ...young.keys()])].sort();
	return paths.flatMap((path) => {
		const file = { path, before: old.get(path) ?? null, after: young.get(path) ?? null };
		return file.before === file.after ? [] : [file];
	});
}

function textsByPath(files: Policy): ReadonlyMap<string, string> {
	return new Map(files.map(({ path, text }) => [path, text]));
}

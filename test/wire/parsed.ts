import type { z } from 'zod';

/** What a schema makes of a value: the data, or each problem as `place: message`. */
export function parsed(
	schema: z.ZodType,
	value: unknown,
): { readonly data: unknown } | { readonly problems: string[] } {
	const result = schema.safeParse(value, { reportInput: true });
	if (result.success) return { data: result.data };
	return { problems: result.error.issues.map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}`) };
}

/** JSON text read as the server reads it, so that `__proto__` is a member like any other. */
export function json(text: string): unknown {
	return JSON.parse(text);
}

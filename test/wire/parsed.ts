import type { z } from 'zod';

/** Returns the parsed data, or each problem as `place: message`. */
export function parsed(
	schema: z.ZodType,
	value: unknown,
): { readonly data: unknown } | { readonly problems: string[] } {
	const result = schema.safeParse(value, { reportInput: true });
	if (result.success) return { data: result.data };
	return { problems: result.error.issues.map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}`) };
}

/** Parses JSON text in the same way as the server, which treats `__proto__` as an ordinary field. */
export function json(text: string): unknown {
	return JSON.parse(text);
}

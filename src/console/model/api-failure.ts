/** An answer that is no success. */
export class ApiFailure extends Error {
	override readonly name = 'ApiFailure';

	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

/** What the body of such an answer tells a person. Of a 422 it names the places. */
export function failureMessage(status: number, body: unknown): string {
	const { message, detail } = (body ?? {}) as { readonly message?: unknown; readonly detail?: unknown };
	if (typeof message === 'string') return message;
	if (Array.isArray(detail)) {
		return detail
			.map(({ loc, msg }: { loc: readonly unknown[]; msg: string }) => `${loc.slice(1).join('.')}: ${msg}`)
			.join('; ');
	}
	return `The server answered ${status}.`;
}

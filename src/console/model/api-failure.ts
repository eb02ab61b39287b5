/** One thing that is wrong with a request, and where in it: first `body`, `query` or `path`. */
export interface RequestProblem {
	readonly loc: readonly (string | number)[];
	readonly msg: string;
}

/** An answer that is no success. */
export class ApiFailure extends Error {
	override readonly name = 'ApiFailure';

	constructor(
		readonly status: number,
		message: string,
		/** The body of the answer, as far as there was one. */
		readonly body: unknown = null,
	) {
		super(message);
	}

	/** What the answer says besides, for programs (contract: Errors); empty where it says nothing. */
	get info(): Readonly<Record<string, unknown>> {
		const { additional_info } = Object(this.body) as { readonly additional_info?: unknown };
		return Object(additional_info ?? {}) as Readonly<Record<string, unknown>>;
	}

	/** What a 422 says is wrong, and where; empty for other answers. */
	get problems(): readonly RequestProblem[] {
		const { detail } = Object(this.body) as { readonly detail?: unknown };
		return Array.isArray(detail) ? detail : [];
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

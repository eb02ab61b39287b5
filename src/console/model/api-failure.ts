import { plainMessage } from './plain-message.js';

/** Problem in a request. Its location starts with `body`, `query` or `path`. */
export interface RequestProblem {
	readonly loc: readonly (string | number)[];
	readonly msg: string;
	/** Machine-readable problem type. */
	readonly type?: string;
}

/** Response with a failure status. */
export class ApiFailure extends Error {
	override readonly name = 'ApiFailure';

	constructor(
		readonly status: number,
		message: string,
		/** Response body, if any. */
		readonly body: unknown = null,
	) {
		super(message);
	}

	/** Machine-readable details; empty if absent. */
	get info(): Readonly<Record<string, unknown>> {
		const { additional_info } = Object(this.body) as { readonly additional_info?: unknown };
		return Object(additional_info ?? {}) as Readonly<Record<string, unknown>>;
	}

	/** Problems in a response with status 422, with their locations; empty for other responses. */
	get problems(): readonly RequestProblem[] {
		const { detail } = Object(this.body) as { readonly detail?: unknown };
		return Array.isArray(detail) ? detail : [];
	}
}

/** Returns the human-readable message from a failure response. For status 422, the message includes the locations. */
export function failureMessage(status: number, body: unknown): string {
	const { message, detail } = (body ?? {}) as { readonly message?: unknown; readonly detail?: unknown };
	if (typeof message === 'string') return plainMessage(message);
	if (Array.isArray(detail)) {
		return detail
			.map(
				({ loc: [, ...path], msg }: { loc: readonly unknown[]; msg: string }) =>
					`${path.length > 0 ? `${path.join('.')}: ` : ''}${plainMessage(msg)}`,
			)
			.join('; ');
	}
	return `The server returned status ${status}.`;
}

import { catalogue, type Failure } from '../failure.js';
import type { ErrorBody, ValidationErrorBody } from '../wire/error.js';

/** Returns the body for a management API error. */
export function renderFailure(failure: Failure, requestId: string): ErrorBody | ValidationErrorBody {
	if (failure.code === 'unprocessable') {
		return { detail: failure.problems.map(({ loc, msg, type }) => ({ loc: [...loc], msg, type })) };
	}
	const { title, error_code } = catalogue[failure.code];
	return {
		id: requestId,
		title,
		error_code,
		message: failure.message,
		support_link: null,
		additional_info: failure.info,
	};
}

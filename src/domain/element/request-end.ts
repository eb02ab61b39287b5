import { Failure } from '../../failure.js';
import type { ElementRequest } from '../../store/table/element/element-request.js';
import type { ElementsConfig } from '../../store/table/element/elements-config.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { AccessRequestReview } from '../../wire/element/element-request.js';
import { asDate } from '../as-date.js';
import { endsBefore } from '../ends-before.js';
import { durationSetting } from './setting.js';

/** Expiry rules for approved requests. */

/**
 * Returns the expiry for an approval made now: the earliest expiry from the request, the reviewer and the element, or
 * `null` if there is none. Throws `conflict` if the expiry has passed, and `invalid` like `shortened`.
 */
export function requireEnd(
	{ now }: WritingUnit,
	{ settings }: ElementsConfig,
	request: ElementRequest,
	{ expires_at }: AccessRequestReview,
): Date | null {
	const wanted = shortened(request, expires_at);
	const seconds = Number(settings[durationSetting] ?? Number.NaN);
	const allowed = Number.isFinite(seconds) ? new Date(now.getTime() + seconds * 1_000) : null;
	const end = endsBefore({ expires_at: allowed }, { expires_at: wanted }) ? allowed : wanted;
	if (end === null || end > now) return end;
	throw new Failure('conflict', `the requested period ended at ${end.toISOString()}`);
}

/**
 * Returns a request's expiry after review. Throws `invalid` if the reviewer's expiry is later than the requested
 * expiry.
 */
export function shortened(request: ElementRequest, said: string | undefined): Date | null {
	const end = asDate(said);
	if (end === null) return request.expires_at;
	if (!endsBefore(request, { expires_at: end })) return end;
	const asked = request.expires_at?.toISOString() ?? '';
	throw new Failure(
		'invalid',
		`a reviewer can only shorten the requested period, which ends at ${asked}, got ${end.toISOString()}`,
	);
}

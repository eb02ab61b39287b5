const mark = '__tenant:';

/** The key of the tenant that the place of a role is; `null` if the place is an instance. */
export function tenantPlace(place: string): string | null {
	return place.startsWith(mark) ? place.slice(mark.length) : null;
}

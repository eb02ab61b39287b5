const mark = '__tenant:';

/** Returns the tenant key from a role's place; `null` if the place is an instance. */
export function tenantPlace(place: string): string | null {
	return place.startsWith(mark) ? place.slice(mark.length) : null;
}

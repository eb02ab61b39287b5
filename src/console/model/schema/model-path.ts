/** Location in the model screen. */
export type ModelPlace =
	| { readonly page: 'resources' | 'roles' | 'users' }
	| { readonly page: 'resource'; readonly key: string };

export function modelPath(place: ModelPlace): string {
	if (place.page === 'resource') return `model/resources/${encodeURIComponent(place.key)}`;
	return place.page === 'resources' ? 'model' : `model/${place.page}`;
}

/** Parses the decoded rest of the path. Returns the resources if the path is invalid. */
export function readModelPath(rest: string): ModelPlace {
	const [page = '', key = ''] = rest.split('/');
	if (page === 'resources' && key !== '') return { page: 'resource', key };
	return page === 'roles' || page === 'users' ? { page } : { page: 'resources' };
}

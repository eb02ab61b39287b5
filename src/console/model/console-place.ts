/** Where in the console a page is: `/console/{project}/{environment}/{screen}`. */
export interface ConsolePlace {
	/** Key or id. */
	readonly project: string;
	/** Key or id. */
	readonly environment: string;
	/** The rest of the path, without slashes at its ends; empty for the first screen. */
	readonly screen: string;
}

/** Where a path leads; `null` for one that names no environment. */
export function readConsolePlace(path: string): ConsolePlace | null {
	const [root, project = '', environment = '', ...screen] = path.split('/').slice(1).map(decoded);
	if (root !== 'console' || project === '' || environment === '') return null;
	return { project, environment, screen: screen.filter((step) => step !== '').join('/') };
}

/** The path of a screen. */
export function consolePath({ project, environment, screen }: ConsolePlace): string {
	const steps = [project, environment].map(encodeURIComponent).join('/');
	return `/console/${steps}/${screen}`;
}

/** A step of a path as text; as it stands where it is no encoding of any. */
function decoded(step: string): string {
	try {
		return decodeURIComponent(step);
	} catch {
		return step;
	}
}

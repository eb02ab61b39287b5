import { consolePath } from '../model/console-place.js';
import { openSession } from './session.js';

/** Returns a screen's path in the open environment, with a query. */
export function screenPath(screen: string, query: Readonly<Record<string, string>> = {}): string {
	const { project, environment } = openSession();
	const path = consolePath({ project: project.key, environment: environment.key, screen });
	const given = Object.entries(query).filter(([, value]) => value !== '');
	return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

import type { Loose } from './client.js';

/** Formats a group role as `<resource>:<instance>#<role>`. */
export function groupRoleName({ key, resource, resource_instance }: Loose): string {
	const [type, instance] = [resource, resource_instance].map((named) => (named as Loose)['key']);
	return `${type}:${instance}#${key}`;
}

/** Instance names in the data document: `<type>:<key>`. */

export interface InstanceName {
	readonly type: string;
	readonly key: string;
}

export function instanceName({ type, key }: InstanceName): string {
	return `${type}:${key}`;
}

/** Returns the resource type in an instance name. */
export function instanceType(instance: string): string {
	return instance.slice(0, instance.indexOf(':'));
}

/** Splits an instance name. Type keys contain no colon. */
export function parseInstanceName(instance: string): InstanceName {
	const colon = instance.indexOf(':');
	return { type: instance.slice(0, colon), key: instance.slice(colon + 1) };
}

import type { ElementConfig, PermissionLevel } from '../api-types.js';
import { isRecord } from '../equal-json.js';
import type { SchemaObjects } from '../matrix/schema-objects.js';
import type { elementTypes } from './element-types.js';

/** Elements in the format of drafts and documents. */

export type ElementType = keyof typeof elementTypes;
export type ElementLevel = Exclude<PermissionLevel, 'UNCONFIGURED'>;
type Settings = ElementConfig['settings'];

export interface ElementValue {
	readonly name: string;
	readonly elements_type: ElementType;
	readonly settings: Settings;
	readonly email_notifications: boolean;
	/** Levels, keyed by role: `<role>` or `<resource>:<role>`. */
	readonly role_levels: Readonly<Record<string, ElementLevel>>;
}

export const newElement: ElementValue = {
	name: '',
	elements_type: 'user_management',
	settings: {},
	email_notifications: false,
	role_levels: {},
};

/** Reads a stored or drafted element. Documents omit fields that equal their default. */
export function readElementValue(value: unknown): ElementValue {
	return { ...newElement, ...(isRecord(value) ? value : {}) };
}

/** Setting that an element type uses. */
export interface SettingField {
	readonly name: string;
	readonly label: string;
	/** Type of the value: `flag` for true or false, `duration` for seconds, and otherwise the kind of the named object. */
	readonly kind: 'flag' | 'duration' | 'resource' | 'action' | 'role' | ElementType;
	/** Meaning of an absent flag. */
	readonly byDefault?: boolean;
}

const reviewFields: readonly SettingField[] = [
	{ name: 'max_duration', label: 'Maximum approval duration', kind: 'duration' },
	{ name: 'allow_self_approval', label: 'Reviewers may approve their own requests', kind: 'flag' },
];

/** Settings that each element type uses. */
export const settingFields: Readonly<Record<ElementType, readonly SettingField[]>> = {
	user_management: [
		{ name: 'default_role', label: 'Default role for added users', kind: 'role' },
		{ name: 'resource', label: 'Only on instances of this resource', kind: 'resource' },
		{ name: 'show_add_user', label: 'Show the form for adding users', kind: 'flag', byDefault: true },
	],
	audit_log: [],
	approval_flow: [
		{ name: 'user_management_element', label: 'Reviewers: owners in', kind: 'user_management' },
		...reviewFields,
	],
	operation_approval: [
		{ name: 'resource', label: 'Resource', kind: 'resource' },
		{ name: 'action', label: 'Action granted by an approval', kind: 'action' },
		...reviewFields,
		{ name: 'single_use', label: 'Each approval can be used only once', kind: 'flag' },
	],
	approval_management: [
		{ name: 'access_request_element', label: 'Access requests from', kind: 'approval_flow' },
		{ name: 'operation_approval_element', label: 'Operation approvals from', kind: 'operation_approval' },
	],
};

/** Purpose of each element type. */
export const typePurposes: Readonly<Record<ElementType, string>> = {
	user_management: "List, add and remove a tenant's users, and assign their roles.",
	audit_log: 'List the decisions in the tenant.',
	approval_flow: 'Users request roles, and reviewers review the requests.',
	operation_approval:
		'Users request approval for an operation on an instance. An approval can be limited to a single use.',
	approval_management: 'Review requests from other elements.',
};

/** Meaning of the levels, for element types whose levels have an effect. */
export const levelPurposes: Readonly<Partial<Record<ElementType, string>>> = {
	user_management:
		'Level 1 (owners) can assign all roles and add and remove users. Level 2 (managers) can do the same for roles at ' +
		'levels 2 to 4. Level 3 can see users and roles. Level 4 cannot see this element, but owners and managers can ' +
		'assign roles at level 4.',
	approval_flow: 'Users can request the roles with a level here or in the linked user management element.',
};

export const elementLevels = ['LEVEL_1', 'LEVEL_2', 'LEVEL_3', 'LEVEL_4', 'HIDDEN'] as const;

/** Formats a level for display. */
export function levelText(level: ElementLevel): string {
	return level === 'HIDDEN' ? 'Hidden' : `Level ${level.at(-1)}`;
}

/** Changes a setting; `undefined` removes it. */
export function withSetting(value: ElementValue, name: string, set: Settings[string] | undefined): ElementValue {
	const { [name]: _, ...others } = value.settings;
	return { ...value, settings: set === undefined ? others : { ...others, [name]: set } };
}

/** Changes a role's level; an empty level removes it. */
export function withLevel(value: ElementValue, role: string, level: ElementLevel | ''): ElementValue {
	const { [role]: _, ...others } = value.role_levels;
	return { ...value, role_levels: level === '' ? others : { ...others, [role]: level } };
}

/** Changes the type, and removes the settings that only the previous type has. */
export function withType(value: ElementValue, elements_type: ElementType): ElementValue {
	const kept = new Set(settingFields[elements_type].map(({ name }) => name));
	const lost = settingFields[value.elements_type].filter(({ name }) => !kept.has(name));
	return lost.reduce((left, { name }) => withSetting(left, name, undefined), { ...value, elements_type });
}

/** Returns the settings that have no form field. */
export function otherSettings({ elements_type, settings }: ElementValue): Settings {
	const known = new Set(settingFields[elements_type].map(({ name }) => name));
	return Object.fromEntries(Object.entries(settings).filter(([name]) => !known.has(name)));
}

/**
 * Reads the other settings from JSON; empty text means none. Returns `null` if the text is not an object whose values
 * are strings, whole numbers or booleans.
 */
export function readOtherSettings(text: string): Settings | null {
	try {
		const read: unknown = text.trim() === '' ? {} : JSON.parse(text);
		if (!isRecord(read)) return null;
		const isValid = Object.values(read).every((one) => ['string', 'boolean'].includes(typeof one) || isWhole(one));
		return isValid ? (read as Settings) : null;
	} catch {
		return null;
	}
}

function isWhole(value: unknown): boolean {
	return Number.isSafeInteger(value);
}

/** Names of the objects that settings and levels can refer to. */
export interface ElementChoices {
	/** Role names: `<role>`, then `<resource>:<role>`. */
	readonly roles: readonly string[];
	readonly resources: readonly string[];
	/** Action keys, by resource. */
	readonly actions: ReadonlyMap<string, readonly string[]>;
	/** Element keys, by type. */
	readonly elements: ReadonlyMap<string, readonly string[]>;
}

export function elementChoices(objects: SchemaObjects): ElementChoices {
	const named = [...objects.values()].flatMap(({ kind, key, value }) =>
		key === undefined ? [] : [{ kind, key, value }],
	);
	const keysOf = (kind: string) => named.filter((one) => one.kind === kind).map(({ key }) => key);
	const elements = new Map<string, readonly string[]>();
	for (const { key, value } of named.filter(({ kind }) => kind === 'elements_config')) {
		const { elements_type } = readElementValue(value);
		elements.set(elements_type, [...(elements.get(elements_type) ?? []), key]);
	}
	const actions = named
		.filter(({ kind }) => kind === 'resource')
		.map(({ key, value }) => [key, actionKeys(value)] as const);
	return {
		roles: [...keysOf('role'), ...keysOf('resource_role')],
		resources: keysOf('resource'),
		actions: new Map(actions),
		elements,
	};
}

function actionKeys(resource: unknown): readonly string[] {
	const actions = isRecord(resource) ? resource['actions'] : undefined;
	return isRecord(actions) ? Object.keys(actions) : [];
}

/** Returns the choices for a setting that refers to an object. */
export function settingChoices(
	{ kind }: SettingField,
	{ settings }: ElementValue,
	choices: ElementChoices,
): readonly string[] {
	if (kind === 'resource') return choices.resources;
	if (kind === 'action') return choices.actions.get(String(settings['resource'] ?? '')) ?? [];
	// In settings, a resource role has the form `<resource>#<role>`.
	if (kind === 'role') return choices.roles.map((role) => role.replace(':', '#'));
	return choices.elements.get(kind) ?? [];
}

import { groupBy } from '../../../compiler/group-by.js';
import { changeElementsConfig, createElementsConfig, removeElementsConfig } from '../../domain/element/config.js';
import { elementRoleName } from '../../domain/element/role.js';
import {
	defaultRoleSetting,
	requestsSetting,
	resourceSetting,
	reviewersSetting,
} from '../../domain/element/setting.js';
import { ElementsConfig, type ElementsSettings, levelRows } from '../../store/table/element/elements-config.js';
import { Resource } from '../../store/table/resource.js';
import { Role, tenantRolesOnly } from '../../store/table/role.js';
import { rowsWithIds, rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { asId, instanceParts } from '../../wire/common.js';
import type { ElementsConfigEntry } from '../../wire/general/environment-document.js';
import { keyedReaders } from './keyed-readers.js';
import {
	type CopyPass,
	type DocumentPart,
	type Entry,
	entryNames,
	mapEntries,
	type WantedEntry,
	withoutDefaults,
	withPlace,
} from './part.js';
import { type PartName, partResolver } from './reference.js';

const member = ['schema', 'elements_configs'] as const;

/**
 * Elements. Documents contain neither webhooks, which contain secrets, nor the activation state. An existing element
 * keeps its webhook.
 */
export const elementPart: DocumentPart<ElementsConfigEntry> = {
	title: 'element',
	member,
	scope({ value }, all) {
		const reviewers = all.find(({ name }) => name === value.settings[reviewersSetting]);
		return [value, ...(reviewers === undefined ? [] : [reviewers.value])].flatMap((one) => [...copyPasses(one)]);
	},
	list: false,
	entriesIn: ({ schema }) =>
		mapEntries(member, schema?.elements_configs).map(({ value, ...entry }) => ({
			...entry,
			value: { ...value, settings: ownSettings(value) },
		})),
	...keyedReaders(ElementsConfig, elementEntries),
	toDocument: (value) => withoutDefaults(value, { settings: {}, email_notifications: false, role_levels: {} }),
	async write(unit, entries) {
		const given = await resolve(unit, entries);
		for (const { columns } of given) await makeWay(unit, columns);
		// An `approval_flow` element refers to its user management element, which must exist first.
		const linking = given.filter(({ columns }) => columns.elements_type === 'approval_flow');
		for (const { entry, columns } of [...given.filter((one) => !linking.includes(one)), ...linking]) {
			await withPlace(entry.place, () => writeElement(unit, columns));
		}
	},
	async remove(unit, entries) {
		for (const key of entryNames(entries)) {
			const row = await currentRow(unit, key);
			if (row !== undefined) await removeElementsConfig(unit, row);
		}
	},
};

function* copyPasses({ role_levels, settings }: ElementsConfigEntry): Generator<CopyPass> {
	for (const { resource, key } of Object.keys(role_levels).map(roleNamed)) {
		yield resource === null ? ['roles', key] : ['resources', resource];
	}
	const about = settings[resourceSetting];
	if (typeof about === 'string') yield ['resources', about];
}

/**
 * Returns the settings without derived fields. The link on a user management element is derived from its request
 * element.
 */
function ownSettings({ elements_type, settings }: Pick<ElementsConfig, 'elements_type' | 'settings'>) {
	if (elements_type !== 'user_management') return settings;
	const { [requestsSetting]: _, ...own } = settings;
	return own;
}

async function elementEntries(
	unit: ReadingUnit,
	rows: readonly ElementsConfig[],
): Promise<readonly Entry<ElementsConfigEntry>[]> {
	const ids = rows.map(({ id }) => id);
	const levels = groupBy(await levelRows(unit, ids), ({ config_id }) => config_id);
	const keyFor = await keysInSettings(unit, rows);
	return rows.map((row) => {
		const { key, name, elements_type, email_notifications } = row;
		const named = (levels.get(row.id) ?? []).map(
			({ key: role, resource, level }) => [resource === null ? role : `${resource}:${role}`, level] as const,
		);
		// Sort by code unit, like all document content.
		const role_levels = Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
		const settings = Object.fromEntries(
			Object.entries(ownSettings(row)).map(([setting, value]) => [setting, keyFor(setting, value)]),
		);
		return {
			name: key,
			place: [...member, key],
			value: { name, elements_type, settings: sortedSettings(settings), email_notifications, role_levels },
		};
	});
}

function sortedSettings(settings: ElementsSettings): ElementsSettings {
	return Object.fromEntries(Object.entries(settings).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Settings that refer to an object. The API accepts its id or key. */
const referringSettings: Readonly<Record<string, 'resource' | 'element' | 'role'>> = {
	[resourceSetting]: 'resource',
	[reviewersSetting]: 'element',
	[requestsSetting]: 'element',
	operation_approval_element: 'element',
	[defaultRoleSetting]: 'role',
};

type Setting = ElementsSettings[string];

/** Returns a function to replace ids in settings by keys. Unknown ids stay. */
async function keysInSettings(
	unit: ReadingUnit,
	rows: readonly ElementsConfig[],
): Promise<(setting: string, value: Setting) => Setting> {
	const ids = (kind: 'resource' | 'element' | 'role') =>
		rows.flatMap(({ settings }) =>
			Object.entries(settings).flatMap(([setting, value]) =>
				referringSettings[setting] === kind ? (asId(String(value)) ?? []) : [],
			),
		);
	const roles = await rowsWithIds(unit, Role, ids('role'));
	const owners = [...roles.values()].flatMap(({ resource_id }) => resource_id ?? []);
	const resources = await rowsWithIds(unit, Resource, [...ids('resource'), ...owners]);
	const elements = await rowsWithIds(unit, ElementsConfig, ids('element'));
	return (setting, value) => {
		const id = asId(String(value)) ?? '';
		switch (referringSettings[setting]) {
			case 'resource':
				return resources.get(id)?.key ?? value;
			case 'element':
				return elements.get(id)?.key ?? value;
			case 'role': {
				const role = roles.get(id);
				if (role === undefined) return value;
				return elementRoleName({ key: role.key, resource: resources.get(role.resource_id ?? '')?.key ?? null });
			}
			default:
				return value;
		}
	};
}

type WantedColumns = Awaited<ReturnType<typeof resolve>>[number]['columns'];

/** Resolves roles in entries to ids. Throws `not_found` for a missing role. */
async function resolve(unit: ReadingUnit, entries: readonly WantedEntry<ElementsConfigEntry>[]) {
	const roleAt = await partResolver(
		unit,
		Role,
		entries.flatMap(({ value }) => Object.keys(value.role_levels).map(roleNamed)),
	);
	return entries.map((entry) => {
		const { role_levels, ...said } = entry.value;
		const levels = Object.entries(role_levels).map(([role, level]) => ({
			id: roleAt(roleNamed(role), [...entry.place, 'role_levels', role]).id,
			level,
		}));
		const roles_to_levels = Object.fromEntries(
			Array.from(
				groupBy(levels, ({ level }) => level),
				([level, held]) => [level, held.map(({ id }) => id)],
			),
		);
		return { entry, columns: { ...said, key: entry.name, roles_to_levels } };
	});
}

/**
 * Removes conflicts before a write: deletes an element with a different type, and removes a link to a different
 * element.
 */
async function makeWay(unit: WritingUnit, wanted: WantedColumns): Promise<void> {
	const row = await currentRow(unit, wanted.key);
	if (row === undefined) return;
	if (row.elements_type !== wanted.elements_type) return removeElementsConfig(unit, row);
	const linked = row.settings[reviewersSetting];
	if (row.elements_type !== 'approval_flow' || linked === undefined) return;
	if (linked === wanted.settings[reviewersSetting]) return;
	const { [reviewersSetting]: _, ...settings } = row.settings;
	await changeElementsConfig(unit, row, { settings });
}

async function writeElement(unit: WritingUnit, { key, ...columns }: WantedColumns): Promise<void> {
	const { elements_type, ...changes } = columns;
	const settings = await idsInSettings(unit, columns.settings);
	const row = await currentRow(unit, key);
	if (row === undefined) {
		await createElementsConfig(unit, { ...columns, key, settings, webhook: undefined });
		return;
	}
	const link = elements_type === 'user_management' ? row.settings[requestsSetting] : undefined;
	const kept = link === undefined ? {} : { [requestsSetting]: link };
	await changeElementsConfig(unit, row, { ...changes, settings: { ...settings, ...kept } });
}

/** Reads an element again. A write to a linked element, or its removal, may have changed this element. */
async function currentRow(unit: ReadingUnit, key: string): Promise<ElementsConfig | undefined> {
	return (await rowsWithKeys(unit, ElementsConfig, [key])).get(key);
}

/** Replaces keys that look like ids by their object's id. Without this, such a key would be read as an id. */
async function idsInSettings(unit: ReadingUnit, settings: ElementsSettings): Promise<ElementsSettings> {
	const ids: Record<string, Setting> = {};
	for (const [setting, value] of Object.entries(settings)) {
		const kind = referringSettings[setting];
		if (kind === undefined || asId(String(value)) === null) continue;
		const table = { resource: Resource, element: ElementsConfig, role: Role }[kind];
		const within = kind === 'role' ? tenantRolesOnly : {};
		const rows = await rowsWithKeys<Resource | ElementsConfig | Role>(unit, table, [String(value)], within);
		const row = rows.get(String(value));
		if (row !== undefined) ids[setting] = row.id;
	}
	return { ...settings, ...ids };
}

function roleNamed(name: string): PartName {
	return instanceParts(name) ?? { resource: null, key: name };
}

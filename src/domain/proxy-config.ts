import { unprocessable } from '../failure.js';
import { type MappingRule, ProxyConfig } from '../store/table/proxy-config.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import {
	hiddenSecret,
	type MappingRuleUpdate,
	type ProxyConfigCreate,
	type ProxyConfigRead,
	type ProxyConfigUpdate,
	type ProxySecret,
} from '../wire/decision/proxy-config.js';
import { definedFields } from './schema/defined-fields.js';

/** Converts a proxy config to its API object, with its secret or a placeholder. */
export function readProxyConfig(unit: ReadingUnit, row: ProxyConfig, withSecret: boolean): ProxyConfigRead {
	const secret = withSecret ? unit.cipher.decrypt(row.secret_cipher) : hiddenSecret;
	return { ...row, ...unit.scope, secret, mapping_rules: [...row.mapping_rules] };
}

/**
 * Adds a proxy config. Throws `duplicate`, and `unprocessable` if the secret does not match the authentication
 * mechanism.
 */
export async function createProxyConfig(unit: WritingUnit, body: ProxyConfigCreate): Promise<ProxyConfig> {
	const { key, name, auth_mechanism, mapping_rules } = body;
	const secret = secretText(body.secret);
	refuseMisfit(auth_mechanism, secret, 'secret');
	const columns = { key, name, auth_mechanism, mapping_rules, secret_cipher: unit.cipher.encrypt(secret) };
	return unit.create(ProxyConfig, columns, key);
}

/** Changes the passed proxy config fields. Throws `unprocessable` like `createProxyConfig`. */
export async function changeProxyConfig(
	unit: WritingUnit,
	row: ProxyConfig,
	{ secret, mapping_rules, ...body }: ProxyConfigUpdate,
): Promise<ProxyConfig> {
	const before = unit.cipher.decrypt(row.secret_cipher);
	const after = secret === undefined ? before : secretText(secret);
	refuseMisfit(body.auth_mechanism ?? row.auth_mechanism, after, secret === undefined ? 'auth_mechanism' : 'secret');
	const columns = {
		...definedFields(body),
		...(mapping_rules && { mapping_rules: rulesAfter(row.mapping_rules, mapping_rules) }),
		// Encrypting an unchanged secret again would look like a change.
		...(after === before ? {} : { secret_cipher: unit.cipher.encrypt(after) }),
	};
	return unit.update(ProxyConfig, row, columns, row.key);
}

/**
 * Applies a list of rules. A list without any `should_delete` replaces all rules. Otherwise the list contains only
 * changes to the rules with these URLs and methods, and all other rules stay.
 */
function rulesAfter(before: readonly MappingRule[], given: readonly MappingRuleUpdate[]): readonly MappingRule[] {
	const kept = given.some((rule) => rule.should_delete) ? before : [];
	const rules = new Map(kept.map((rule) => [ruleName(rule), rule]));
	for (const { should_delete, ...rule } of given) {
		if (should_delete) rules.delete(ruleName(rule));
		else rules.set(ruleName(rule), rule);
	}
	return [...rules.values()];
}

function ruleName({ http_method, url }: MappingRule): string {
	return `${http_method} ${url}`;
}

function secretText(secret: ProxySecret): string {
	return typeof secret === 'string' ? secret : JSON.stringify(secret);
}

/**
 * Rejects a secret that does not match the mechanism: headers need a map from names to values, and a bearer token must
 * not be a map. Throws `unprocessable` with the field.
 */
function refuseMisfit(mechanism: ProxyConfig['auth_mechanism'], secret: string, field: string): void {
	const refuse = (msg: string) => unprocessable([{ loc: ['body', field], msg, type: 'secret_mismatch' }]);
	if (mechanism === 'Headers' && !isMap(secret)) throw refuse('`Headers` requires a map of strings as the secret');
	if (mechanism === 'Bearer' && isMap(secret)) throw refuse('`Bearer` requires a string as the secret');
}

/** True if the string is JSON for a map from strings to strings. */
function isMap(text: string): boolean {
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
		return Object.values(value).every((member) => typeof member === 'string');
	} catch {
		return false;
	}
}

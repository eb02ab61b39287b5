export * from './api.js';
export { applyFilter, toPrismaWhere, toSql } from './filter.js';
export { loadEngine } from './load-engine.js';

const { loadOnce } = require('./load-once.cjs');

module.exports = loadOnce('db', 'kysely');

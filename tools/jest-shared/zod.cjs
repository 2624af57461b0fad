const { loadOnce } = require('./load-once.cjs');

module.exports = loadOnce('runtime', 'zod');

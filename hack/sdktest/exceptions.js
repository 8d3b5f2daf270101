exports.exceptions = [];

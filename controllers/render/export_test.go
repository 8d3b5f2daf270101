package render

// MigrationDeadline is tested with other numbers of steps than that of the migrations.
var MigrationDeadline = migrationDeadline

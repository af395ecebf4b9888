package engine

import (
	"embed"

	"pmx/engine/statement"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

package main

import (
	"pmx/http/openapi"
)

// OpenAPICmd prints the OpenAPI document.
type OpenAPICmd struct{}

// Help is the longer help.
func (OpenAPICmd) Help() string {
	return `The same document is served at /openapi.json. It describes every endpoint with its parameters, fields, errors
and an example.

  pmx openapi > pmx.json`
}

// Run prints the document.
func (OpenAPICmd) Run(std stdio) error {
	doc, err := openapi.Current()
	if err != nil {
		return err
	}
	text, err := doc.JSON()
	if err != nil {
		return err
	}
	_, err = std.out.Write(text)
	return err
}

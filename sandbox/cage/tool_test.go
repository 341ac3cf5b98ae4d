package cage

func beTool() {}

"""ONNX files: reader, operations, writer, and onnxruntime for comparison."""

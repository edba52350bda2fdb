"""Agreement: does a metric order explanation methods the way people's success with them does?"""
